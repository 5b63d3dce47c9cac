/** Takes what must not be read out of a body before it is stored. What is kept stays valid JSON where it was. */
import { maskCredentialFields } from './credential-fields.ts';

const mask = '[redacted]';

/** Forms that betray a credential wherever they stand. Each is linear: no nested quantifiers, bounded look-ahead. */
const forms: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,40}-----)?/g, mask],
  [/\b(Bearer|Basic)(\s{1,8})(?=[A-Za-z._~+/=-]{0,200}\d)[A-Za-z0-9._~+/=-]{8,}/gi, `$1$2${mask}`],
  [/([?&](?:key|api_key|apikey|token|access_token|refresh_token|sig|signature|x-amz-signature|x-amz-security-token)=)[^&\s"'#\\]+/gi, `$1${mask}`],
  [/\b(sk|gk|rk|pk|xai|gsk|pplx|hf|glpat|r8)([-_])[A-Za-z0-9_-]{12,}/g, `$1$2${mask}`],
  [/\bAIza[A-Za-z0-9_-]{16,}/g, mask],
  [/\bya29\.[A-Za-z0-9_-]{16,}/g, mask],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, mask],
  [/\b(?:gh[opsur]_|github_pat_)[A-Za-z0-9_]{20,}/g, mask],
  [/\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g, mask],
  [/(:\/\/[^\s:/@"\\]{0,128}:)[^\s/@"\\]{1,256}@/g, `$1${mask}@`],
];

/** A run of a token's characters with a dot behind it, looked for where it begins alone. */
const beforeDot = /(?<![\w-])[\w-]{11,}\./g;
/** Of a JSON web token: how its header begins, what the header has besides, and what follows its dot. */
const webToken = { begins: /\beyJ/, shortest: 11, rest: /[\w-]{8,}(?:\.[\w-]*)?/y };

/** JSON web tokens: by hand, since one expression would read a long run anew from each `eyJ` in it. */
function maskWebTokens(text: string): string {
  let out = '';
  let copied = 0;
  beforeDot.lastIndex = 0;
  for (let found = beforeDot.exec(text); found; found = beforeDot.exec(text)) {
    const [run] = found;
    const begins = run.search(webToken.begins);
    webToken.rest.lastIndex = beforeDot.lastIndex;
    if (begins < 0 || run.length - 1 - begins < webToken.shortest || !webToken.rest.test(text)) continue;
    out += text.slice(copied, found.index + begins) + mask;
    copied = webToken.rest.lastIndex;
    beforeDot.lastIndex = copied;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** `\u0041` and `\/` are ways to write `A` and `/`; escaped backslashes are stepped over in pairs. */
const escapes = /\\(?:u00([2-7][0-9a-fA-F])|(\/)|[\s\S])/g;
const unescaped = (whole: string, hex: string | undefined, slash: string | undefined): string => {
  if (slash !== undefined) return slash;
  const character = hex === undefined ? '' : String.fromCharCode(Number.parseInt(hex, 16));
  return character === '' || character === '"' || character === '\\' || character === '\u007f' ? whole : character;
};

/** `redactKnown` masks the secrets of this gateway; the rest is recognised by its form or by the name of its field. */
export function redactBody(text: string, redactKnown: (text: string) => string): string {
  const plain = text.includes('\\u00') || text.includes('\\/') ? text.replace(escapes, unescaped) : text;
  let out = maskWebTokens(maskCredentialFields(redactKnown(plain)));
  for (const [form, replacement] of forms) out = out.replace(form, replacement);
  return out;
}

/** At most `bytes` of UTF-8, never a part of a character. */
export function cutText(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text;
  const encoded = Buffer.from(text, 'utf8');
  if (encoded.length <= bytes) return text;
  let end = Math.max(0, bytes);
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--;
  return encoded.toString('utf8', 0, end);
}
