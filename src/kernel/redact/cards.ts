import type { RedactionRule } from './rule.ts';

/** The first digits of the card schemes, by how many digits their numbers have (ISO/IEC 7812). */
const SCHEMES: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/, // Visa
  /^(?:5[1-5]|2(?:2[2-9]|[3-6]\d|7[01]))\d{14}$|^2720\d{12}$|^222[1-9]\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(?:0[0-5]|[689]\d)\d{11,13}$/, // Diners Club
  /^(?:6011|64[4-9]\d|65\d\d)\d{12,15}$/, // Discover
  /^35\d{14,17}$/, // JCB
  /^62\d{14,17}$/, // UnionPay
];

/** The check digit of card numbers (ISO/IEC 7812-1, annex B). */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits[digits.length - 1 - at]);
    const doubled = at % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Whether these are the digits of a card: of a scheme, of its length, with the right check digit. */
export function isCardNumber(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '');
  return SCHEMES.some((scheme) => scheme.test(digits)) && hasCheckDigit(digits);
}

export const CARD_RULES: readonly RedactionRule[] = [
  {
    name: 'card-number',
    pattern: /(?<![\w.-])[2-6]\d(?:[\p{Zs}-]?\d){11,17}(?![\w-]|\.\d)/gu,
    isSecret: isCardNumber,
  },
];
