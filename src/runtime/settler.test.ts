import { describe, expect, it } from 'vitest';
import { storable } from './artifacts/fitting.ts';
import { endMessage } from './settler.ts';

const block = (text: string) => ({ type: 'text', text });

describe('the words beside an end', () => {
  it('are those of the error, of the tool that reports one, and else none', () => {
    expect(endMessage({ kind: 'error', error: { code: 1, message: 'quota exceeded' } })).toBe(
      'quota exceeded',
    );
    const failed = {
      isError: true,
      content: [{ type: 'image', data: '' }, block('no such invoice')],
    };
    expect(endMessage({ kind: 'result', result: failed })).toBe('no such invoice');
    expect(endMessage({ kind: 'result', result: { content: [block('42')] } })).toBeUndefined();
    expect(endMessage({ kind: 'result', result: { isError: true } })).toBeUndefined();
    expect(
      endMessage({ kind: 'result', result: { isError: true, content: [null, { text: 7 }] } }),
    ).toBeUndefined();
    expect(endMessage({ kind: 'cancelled' })).toBeUndefined();
  });

  it('are safe to show and short', () => {
    const message = endMessage({
      kind: 'error',
      error: { code: 1, message: `\u001b[31mtoken=abc123 ${'x'.repeat(500)}` },
    });
    expect(message).toMatch(/^token=\[redacted\] x+…$/);
    expect(message).toHaveLength(200);
  });
});

describe('an outcome to be kept', () => {
  it('is kept as it is up to the limit, counted in bytes', () => {
    const outcome = { kind: 'result', result: { a: 'ä' } } as const;
    const bytes = Buffer.byteLength(JSON.stringify(outcome));
    expect(storable(outcome, bytes)).toBe(outcome);
    expect(storable(outcome, bytes - 1)).toMatchObject({
      error: { data: { reason: 'result_too_large', bytes } },
    });
  });
});
