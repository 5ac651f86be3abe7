/** `longcall`: what every part of the package shares. */
export { PRODUCT, type Product } from './compose/product.ts';
export {
  ERROR_CATALOGUE,
  LongcallError,
  type ErrorCode,
  type LongcallErrorOptions,
} from './kernel/errors.ts';
