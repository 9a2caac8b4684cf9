/** The Accept header decides by its weights; text stays the default. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseFormat } from '../../src/exporters/negotiate.ts';

const OM = 'application/openmetrics-text';
const rows: readonly (readonly [string | undefined, 'text' | 'openmetrics', string])[] = [
  [undefined, 'text', 'no header'],
  ['', 'text', 'an empty one'],
  ['*/*', 'text', 'curl'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text', 'a browser'],
  ['application/json', 'text', 'none that we have: text all the same'],
  [OM, 'openmetrics', 'named alone'],
  [`${OM}; version=1.0.0; charset=utf-8`, 'openmetrics', 'with charset'],
  [`${OM};version="1.0.0"`, 'openmetrics', 'a quoted version'],
  [OM.toUpperCase(), 'openmetrics', 'types know no case'],
  [`${OM};version=0.0.1`, 'text', 'a version that we do not speak'],
  [`${OM};version=0.0.1,text/plain;version=0.0.4;q=0.5`, 'text', 'the same beside text'],
  [
    `${OM};version=1.0.0,${OM};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
    'openmetrics',
    'Prometheus 2.42',
  ],
  [
    `${OM};version=1.0.0;escaping=allow-utf-8;q=0.6,${OM};version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
    'openmetrics',
    'Prometheus 3',
  ],
  [
    `application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.5,${OM};version=1.0.0;q=0.4,*/*;q=0.2`,
    'text',
    'text weighs more than OpenMetrics',
  ],
  [`text/plain;q=0.5,${OM};q=0.9`, 'openmetrics', 'order does not matter'],
  [`${OM};q=0.2,text/plain;q=0.8`, 'text', 'a low weight'],
  [`${OM};q=0,*/*`, 'text', 'refused by name'],
  [`text/plain;q=0,${OM};q=0.001`, 'openmetrics', 'text refused'],
  [`text/plain;q=0,*/*`, 'openmetrics', 'anything but text'],
  [`${OM},text/plain`, 'text', 'equal weights by name: the default'],
  [`${OM},*/*`, 'openmetrics', 'named beats covered'],
  [`text/plain,*/*`, 'text', 'named beats covered, the other way'],
  ['application/*', 'openmetrics', 'a range that text is not in'],
  [`${OM};q=2`, 'text', 'a broken weight wins nothing'],
  [`${OM};q=`, 'text', 'an empty weight'],
  [`${OM};q=0.5;version=1.0.0, text/plain;q=0.4`, 'openmetrics', 'q is no last parameter'],
  [';;;,,,=;q', 'text', 'noise'],
];

describe('Accept', () => {
  for (const [accept, format, name] of rows)
    test(`${name}: ${format}`, () => assert.equal(chooseFormat(accept), format, accept));
});
