import { describe, expect, test } from 'vitest';
import { nameOfUpstream, splitCommand, upstreamsFromTexts } from './upstream-text.ts';

describe('a command line', () => {
  test.each([
    ['node server.js', ['node', 'server.js']],
    ['  npx   -y  pkg ', ['npx', '-y', 'pkg']],
    [`node "my server.js" 'a b' --x="y z"`, ['node', 'my server.js', 'a b', '--x=y z']],
    [
      String.raw`node my\ server.js "say \"hi\"" 'C:\dir'`,
      ['node', 'my server.js', 'say "hi"', String.raw`C:\dir`],
    ],
    [`node ""`, ['node', '']],
    ['node $HOME ; rm -rf x', ['node', '$HOME', ';', 'rm', '-rf', 'x']],
  ])('%s', (text, words) => {
    expect(splitCommand(text)).toEqual(words);
  });

  test.each(['', '   ', 'node "open', `node it's`, 'node \\'])('%j is none', (text) => {
    expect(() => splitCommand(text)).toThrow(expect.objectContaining({ code: 'LONGCALL_USAGE' }));
  });
});

describe('the name of an upstream that was given without one', () => {
  test.each([
    ['npx -y @modelcontextprotocol/server-everything@2026.8.31 stdio', 'server-everything'],
    ['node ./build/my_server.js --port 1', 'my-server'],
    ['/usr/bin/python3 -m weather', 'weather'],
    ['reports-mcp', 'reports-mcp'],
    ['node', 'node'],
    ['https://tools.example/mcp', 'tools-example'],
    ['HTTP://127.0.0.1:9/mcp', '127-0-0-1'],
    ['https://', 'upstream'],
    ['***', 'upstream'],
  ])('%s: %s', (text, name) => {
    expect(nameOfUpstream(text)).toBe(name);
  });

  test('names that come twice get a number', () => {
    const entries = upstreamsFromTexts(['node a.js', 'https://b.example/mcp', 'node dir/a.js']);
    expect(entries).toEqual({
      a: { command: ['node', 'a.js'] },
      'b-example': { url: 'https://b.example/mcp' },
      'a-2': { command: ['node', 'dir/a.js'] },
    });
  });
});
