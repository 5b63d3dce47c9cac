/** Reads a scripted model id: what to say, and what goes wrong while saying it. Parts are joined by `+`: `text:50+slow:5+cut@900`. */

export interface Script {
  /** The vendor's model that the id names in front of the script; empty: none. */
  vendorModel: string;
  /** Text deltas to say; 0 = echo the caller. */
  chunks: number;
  /** Arguments of the tool call. */
  args: string;
  /** Bytes of the one huge text. */
  big: number;
  /** Byte of the body at which it ends wrongly. */
  fault: { kind: 'cut' | 'eof' | 'stall'; at: number } | null;
  error: { status: number; code: string; retryAfter: string | null } | null;
  slowMs: number;
  fixture: { protocol: string; name: string; n: number } | null;
  flags: ReadonlySet<string>;
}

const flagNames = new Set(['hang', 'midstream-error', 'garbage', 'split1', 'pump', 'redir', 'gzip', 'cumulative', 'play', 'think']);
const whole = (text: string | undefined): number => Number.parseInt(text ?? '0', 10) || 0;

/** Each pattern gives its part of the script. */
const patterns: readonly (readonly [RegExp, (match: RegExpExecArray) => Partial<Script>])[] = [
  [/^ok$/, () => ({})],
  [/^ok:(\{.*\})$/s, (match) => ({ args: match[1] as string })],
  [/^text:(\d+)$/, (match) => ({ chunks: whole(match[1]) })],
  [/^big:(\d+)$/, (match) => ({ big: whole(match[1]) })],
  [/^slow:(\d+)$/, (match) => ({ slowMs: whole(match[1]) })],
  [/^(cut|eof|stall)@(\d+)$/, (match) => ({ fault: { kind: match[1] as 'cut', at: whole(match[2]) } })],
  [/^err:(\d{3})(?::([^:]+))?(?::([^:]+))?$/, (match) => ({ error: { status: whole(match[1]), code: match[2] ?? 'error', retryAfter: match[3] ?? null } })],
  [
    /^fixture\/([a-z_]+)\/([A-Za-z0-9._-]+)(?:\/(\d+))?$/,
    (match) => ({ fixture: { protocol: match[1] as string, name: match[2] as string, n: whole(match[3]) || 1 } }),
  ],
];

/** `text:5`, or a vendor's model in front of it: `deepseek-v3.2@text:5`, `anthropic.claude-opus-4-6-v1:0@ok`. null: no such scripted model. */
export function readScript(model: string): Script | null {
  const plain = readParts(model);
  if (plain !== null) return plain;
  // Scripts may hold the sign as well, so the first place after which one stands.
  for (let at = model.indexOf('@'); at > 0; at = model.indexOf('@', at + 1)) {
    const script = readParts(model.slice(at + 1));
    if (script !== null) return { ...script, vendorModel: model.slice(0, at) };
  }
  return null;
}

function readParts(model: string): Script | null {
  const flags = new Set<string>();
  const script: Script = { vendorModel: '', chunks: 0, args: '{}', big: 0, fault: null, error: null, slowMs: 0, fixture: null, flags };
  // Only before a known word: arguments of a tool may hold a plus sign.
  for (const part of model.split(
    /\+(?=(?:ok|text|big|slow|cut|eof|stall|err|fixture|hang|midstream-error|garbage|split1|pump|redir|gzip|cumulative|play|think)\b)/,
  )) {
    if (flagNames.has(part)) {
      flags.add(part);
      continue;
    }
    const pattern = patterns.find(([regex]) => regex.test(part));
    if (pattern === undefined) return null;
    Object.assign(script, pattern[1](pattern[0].exec(part) as RegExpExecArray));
  }
  return script;
}
