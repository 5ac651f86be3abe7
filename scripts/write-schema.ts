/** Writes schema/longcall.schema.json anew from the configuration's schema; a test fails while it is out of date. */
import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../src/gateway/config/json-schema.ts';

const TARGET = new URL('../schema/longcall.schema.json', import.meta.url);

writeFileSync(TARGET, `${JSON.stringify(configJsonSchema(), null, 2)}\n`);
