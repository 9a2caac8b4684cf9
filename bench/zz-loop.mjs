// usage: tsx bench/zz-loop.mjs caps|ordinary|files
import { mkdtempSync, rmSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PerformanceObserver } from 'node:perf_hooks';
import { createCheckpoint, createGate } from '../src/app/checkpoint/checkpoint.ts';
import { createExposition } from '../src/app/exposition.ts';
import { restore } from '../src/app/checkpoint/restore.ts';
import { createSlots } from '../src/app/checkpoint/slots.ts';
import { holdYoungGeneration, keepHeapSmall } from '../src/app/memory.ts';
import { createPipeline } from '../src/core/pipeline.ts';
import { createPrometheusExporter } from '../src/exporters/prometheus.ts';
import { ORIGIN } from '../test/support/build-event.ts';
import { hostile } from '../test/support/hostile.ts';
import { createTraffic } from './traffic.mjs';
const mode = process.argv[2];
const mt=()=>+readFileSync('/proc/self/task/'+process.pid+'/schedstat','utf8').split(' ')[0]/1e6;
keepHeapSmall();
const pipeline = createPipeline();
let n = 0;
if (mode === 'caps') {
  for (const line of hostile(1, 200_000).lines) { pipeline.line(JSON.stringify(line), ORIGIN, ++n, 0); if (n % 5000 === 0) { pipeline.tick(line.ts); holdYoungGeneration(); } }
  for (let i = 0; pipeline.cells.series < 10_000 && i < 200_000; i++) pipeline.cells.touch('status_meaning', [`s${i % 60}`, '2025-11-25', String(300 + (i % 290)), 'other']);
} else {
  const T=1_793_577_600_000; const traffic = createTraffic({ seed: 1, rate: 500, startTs: T, writers: 4 });
  for (let ts=T+1000; ts<T+700_000; ts+=1000){ traffic.advance(ts, (t)=>{pipeline.line(t.trimEnd(), ORIGIN, ++n, 0); if(n%5000===0)holdYoungGeneration();}); pipeline.tick(ts);}
}
const positions = mode==='files' ? Array.from({length:10000},(_,i)=>({path:`/var/log/host/app-${i}.ndjson`,name:`/var/log/host/app-${i}.ndjson`,dev:'65024',ino:String(1e6+i),birthtimeNs:String(1790000000000000000n+BigInt(i)*123456789n),offset:1000+i,line:10+i,size:1000+i,proved:1000+i,head:{bytes:256,hash:(i*7919).toString(16).padStart(16,'0')+'a'.repeat(16)},tail:{bytes:64,hash:(i*104729).toString(16).padStart(16,'0')+'b'.repeat(16)},newestTs:1790000000000+i})) : [];
const source={name:'files',state:()=>({version:1,watermark:1,newestTs:1,unstableBirth:[],files:[...positions].map(p=>({...p}))}),status:()=>({lagBytes:0})};
const folder = mkdtempSync(join(tmpdir(), 'tailfin-bench-'));
const slots = createSlots(folder); await slots.load();
const checkpoint = createCheckpoint({ slots, pipeline, sources: [source], gate: createGate(), say: (l,m)=>console.log(l,m) });
let last0=performance.now();
const turn = async()=>{};
let nt; try { nt=(await import('../src/sources/next-turn.ts')).turnEvery; } catch {}
const exporter = createPrometheusExporter(pipeline.cells, { process: true, turn: nt?.(8,()=>performance.now()) });
const exposition = createExposition({ cells: pipeline.cells, exporter, refresh: pipeline.refresh, statuses: () => [], checkpoint, start: 'restored', now: Date.now, holdMs: 30000 });
const gcs=[]; new PerformanceObserver(l=>{for(const e of l.getEntries())gcs.push([e.startTime,e.duration,e.detail.kind]);}).observe({entryTypes:['gc']});
const gaps=[]; let last=performance.now(), lastCpu=mt(), over=false;
const watch=()=>{const now=performance.now(); const cpu=mt(); if(cpu-lastCpu>2)gaps.push([last,now,cpu-lastCpu]); last=now; lastCpu=cpu; if(!over)setImmediate(watch);};
watch();
const totals=[];
for(let i=0;i<5;i++){ const s=performance.now(); const c=mt(); const r=await exposition.scrape('text'); totals.push(`${Math.round(performance.now()-s)} (cpu ${Math.round(mt()-c)})`); r.answered(); await checkpoint.commit(()=>{});  {const e=performance.now()+1100;while(performance.now()<e)await new Promise(r=>setTimeout(r,50));} if(nt&&i===0){} }
await new Promise(r=>setTimeout(r,20)); over=true;
const rows=gaps.map(([a,b,c])=>{let gc=0;for(const[s,d]of gcs){const x=Math.min(b,s+d)-Math.max(a,s);if(x>0)gc+=x;}return{held:b-a,gc,rest:b-a-gc,cpu:c};});
const top=(k)=>rows.map(r=>r[k]).sort((a,b)=>b-a).slice(0,4).map(x=>x.toFixed(1)).join(' ');
const size=[...pipeline.cells.families()].find(({key})=>key==='checkpoint_bytes').cells[0].value;
const f=(await import('node:v8')).getHeapStatistics();
console.log(`${mode} series ${pipeline.cells.series} record ${(size/1e6).toFixed(1)} MB heap ${(f.used_heap_size/1e6).toFixed(0)}; scrape ms ${totals.join(', ')}; held ${top('held')}; thread CPU between turns ${top('cpu')}; gc pauses max ${gcs.map(g=>g[1]).sort((a,b)=>b-a).slice(0,4).map(x=>x.toFixed(1)).join(' ')} major ${gcs.filter(g=>g[2]===4).length} minor ${gcs.filter(g=>g[2]===1).length}`);
const t=performance.now(); const res=await restore(slots); createPipeline().load(res.parts); console.log(`  read back ${Math.round(performance.now()-t)} ms`);
await slots.close(); rmSync(folder,{recursive:true}); process.exit(0);
