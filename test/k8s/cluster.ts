/** A real kube-apiserver and etcd as processes on free ports of the loopback, without nodes: what it accepts and what it changes. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { start, tempFolder } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';
import { type Answer, programs, run } from './rig.ts';

export interface Cluster {
  kubectl(args: readonly string[], input?: string): Answer;
}

const START_MS = 180_000;
const LIFE_MS = 540_000;

export async function startCluster(t: TestContext, binaries: string): Promise<Cluster> {
  const folder = tempFolder(t);
  const certificates = join(folder, 'certs');
  mkdirSync(certificates);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = join(certificates, 'sa.key');
  writeFileSync(key, privateKey.export({ type: 'pkcs1', format: 'pem' }));
  const tokens = join(certificates, 'tokens.csv');
  writeFileSync(tokens, 'test,test,test,system:masters\n');
  const [client, peer, secure] = [await freePort(), await freePort(), await freePort()];
  const store = `http://127.0.0.1:${client}`;
  const peers = `http://127.0.0.1:${peer}`;
  const launch = (name: string, args: readonly string[]) => {
    const running = start(join(binaries, name), args, { timeoutMs: LIFE_MS, cwd: folder });
    t.after(() => {
      running.child.kill('SIGKILL');
      return running.ended;
    });
    return running;
  };
  launch('etcd', [
    ...['--data-dir', join(folder, 'etcd'), '--listen-client-urls', store, '--advertise-client-urls', store],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers, '--initial-cluster', `default=${peers}`],
  ]);
  const api = launch('kube-apiserver', [
    ...[
      '--etcd-servers',
      store,
      '--cert-dir',
      certificates,
      '--bind-address',
      '127.0.0.1',
      '--secure-port',
      String(secure),
    ],
    ...[
      '--service-account-key-file',
      key,
      '--service-account-signing-key-file',
      key,
      '--service-account-issuer',
      'https://test',
    ],
    ...[
      '--token-auth-file',
      tokens,
      '--authorization-mode',
      'AlwaysAllow',
      '--service-cluster-ip-range',
      '10.0.0.0/24',
    ],
    // Nobody here makes the service account that it asks for.
    ...['--disable-admission-plugins', 'ServiceAccount', '--allow-privileged'],
  ]);
  const server = ['--server', `https://127.0.0.1:${secure}`, '--insecure-skip-tls-verify', '--token', 'test'];
  const kubectl = (args: readonly string[], input = '') =>
    run(programs.kubectl, [...server, ...args], input, { HOME: folder, KUBECONFIG: join(folder, 'none') });
  await until(() => kubectl(['get', '--raw', '/readyz']).status === 0 || api.child.exitCode !== null, {
    ...{ timeoutMs: START_MS, everyMs: 500 },
    what: () => `the API server is ready: ${api.stderr().slice(-2000)}`,
  });
  assert.equal(api.child.exitCode, null, api.stderr().slice(-2000));
  return { kubectl };
}
