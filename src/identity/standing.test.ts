import { expect, test } from 'vitest';
import { anonymousPrincipal, localPrincipal } from './principal.ts';
import { createMayStill } from './standing.ts';
import { principalOf, type StaticToken } from './static-token.ts';

const ada: StaticToken = {
  name: 'ada',
  digest: new Uint8Array(32),
  subject: 'ada',
  tenant: 'acme',
  scopes: ['tool.call'],
};
const recordOf = ({ key, tenant }: ReturnType<typeof principalOf>) => ({ owner: key, tenant });

test('what was granted counts for as long as it is granted', () => {
  let tokens: readonly StaticToken[] = [ada];
  const mayStill = createMayStill({ tokens: { current: () => tokens }, allowAnonymous: false });
  const record = recordOf(principalOf(ada));
  expect(mayStill('tool.call', record)).toBe(true);
  expect(mayStill('task.cancel', record)).toBe(false);
  tokens = [{ ...ada, name: 'another token of hers', expiresAt: 1 }];
  expect(mayStill('tool.call', record)).toBe(true);
  tokens = [{ ...ada, scopes: ['task.read'] }];
  expect(mayStill('tool.call', record)).toBe(false);
  tokens = [{ ...ada, tenant: 'globex' }];
  expect(mayStill('tool.call', record)).toBe(false);
  tokens = [];
  expect(mayStill('tool.call', record)).toBe(false);
});

test('the user of this machine always may; nobody in particular only where they are served', () => {
  const tokens = { current: () => [] };
  const [open, closed] = [true, false].map((allowAnonymous) =>
    createMayStill({ tokens, allowAnonymous }),
  );
  expect(closed?.('tool.call', recordOf(localPrincipal()))).toBe(true);
  expect(open?.('tool.call', recordOf(anonymousPrincipal()))).toBe(true);
  expect(closed?.('tool.call', recordOf(anonymousPrincipal()))).toBe(false);
});
