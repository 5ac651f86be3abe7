import { expect } from 'vitest';
import { verifies } from '../../../../test/requirements/verifies.ts';
import { emittable, questionParams, statusOfError } from './results.ts';

const error = (code: number) => ({ code, message: 'm', data: { kept: true } });

verifies(
  ['G2-124', 'G2-74'],
  'no reserved code without a meaning leaves, and nothing else is touched',
  () => {
    const kept = [
      -32_700, -32_603, -32_602, -32_601, -32_600, -32_000, -32_020, -32_021, -32_022, 0, 1403, 42,
    ];
    for (const code of kept) expect(emittable(error(code))).toEqual(error(code));
    expect(emittable(error(-32_002))).toEqual(error(-32_602));
    for (const code of [-32_042, -32_023, -32_099])
      expect(emittable(error(code))).toEqual(error(-32_603));
    expect(emittable(error(-32_100)).code).toBe(-32_100);
  },
);

verifies('T39', 'the HTTP status follows the code only where the text fixes it', () => {
  const statuses = [-32_601, -32_020, -32_021, -32_022, -32_602, -32_603, 1429].map((code) =>
    statusOfError(error(code)),
  );
  expect(statuses).toEqual([404, 400, 400, 400, 200, 200, 200]);
});

verifies('G2-70', 'a page to open has no elicitationId; a form keeps what it has', () => {
  expect(questionParams({ mode: 'url', url: 'u', elicitationId: 'x' })).toEqual({
    mode: 'url',
    url: 'u',
  });
  expect(questionParams({ message: 'm', elicitationId: 'x' })).toEqual({
    message: 'm',
    elicitationId: 'x',
  });
});
