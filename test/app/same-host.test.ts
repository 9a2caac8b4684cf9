/** By which hosts the loopback listener may be called, where that hangs on the address of the connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request, Response } from 'express';
import { requireSameHost } from '../../src/app/same-host.ts';

function isLetIn(listenHost: string, host: string, localAddress: string): boolean {
  let status = 0;
  const response = { status: (code: number) => ({ json: () => (status = code) }) } as unknown as Response;
  const request = { headers: { host }, socket: { localAddress } } as unknown as Request;
  requireSameHost(listenHost)(request, response, () => {
    status = 200;
  });
  return status === 200;
}

test('a listener on all addresses may be called by the one that the connection came to', () => {
  for (const [listenHost, host, localAddress, expected] of [
    ['0.0.0.0', '10.0.0.5:19641', '10.0.0.5', true],
    ['::', '10.0.0.5:19641', '::ffff:10.0.0.5', true],
    ['::', '[fd00::5]:19641', 'fd00::5', true],
    ['::', '10.0.0.6:19641', '::ffff:10.0.0.5', false],
    ['::', 'tailfin.example:19641', '::ffff:10.0.0.5', false],
    ['tailfin.example', 'tailfin.example:19641', '10.0.0.5', true],
  ] as const)
    assert.equal(isLetIn(listenHost, host, localAddress), expected, `${listenHost} ${host}`);
});
