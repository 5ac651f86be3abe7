import type { Codec2025, Codec2026, WireCodec } from './codec.ts';
import type { Generation } from './model.ts';
import { codec2025 } from './wire-2025/codec.ts';
import { codec2026 } from './wire-2026/codec.ts';

export { codec2025, codec2026 };

const CODECS: { readonly '2025-11-25': Codec2025; readonly '2026-07-28': Codec2026 } = {
  '2025-11-25': codec2025,
  '2026-07-28': codec2026,
};

/** The codec of a generation: the only way to a wire. */
export const selectCodec = (generation: Generation): WireCodec => CODECS[generation];
