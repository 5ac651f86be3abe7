import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createHostGuard } from './host-guard.ts';

const guard = createHostGuard(['mcp.example', '[fd00::1]', '10.0.0.7:8787']);
const check = (headers: Readonly<Record<string, string>>) =>
  guard({ headers } as unknown as IncomingMessage);

test.each([
  ['localhost'],
  ['localhost:8787'],
  ['127.0.0.1:1'],
  ['[::1]:8787'],
  ['MCP.EXAMPLE'],
  ['[fd00::1]:443'],
  ['10.0.0.7'],
])('the host %s is allowed', (host) => {
  expect(check({ host })).toBeUndefined();
});

test.each([
  [''],
  ['evil.example'],
  ['localhost.evil.example'],
  ['evil.example:127.0.0.1'],
  ['localhost@evil.example'],
  ['localhost/evil'],
  ['127.0.0.1 evil.example'],
  ['[::1'],
  ['2130706433'],
])('the host %j is refused', (host) => {
  expect(check({ host })).toBe('Host');
});

test('no host at all is refused; no origin is a caller that is no browser', () => {
  expect(check({})).toBe('Host');
  expect(check({ host: 'localhost' })).toBeUndefined();
});

test.each([['http://localhost:6274'], ['https://mcp.example'], ['http://[::1]:5']])(
  'the origin %s is allowed',
  (origin) => {
    expect(check({ host: 'localhost', origin })).toBeUndefined();
  },
);

test.each([
  ['null'],
  ['http://evil.example'],
  ['localhost'],
  ['file://'],
  ['http://localhost.evil.example'],
  [''],
])('the origin %j is refused', (origin) => {
  expect(check({ host: 'localhost', origin })).toBe('Origin');
});
