/** Why the console refused something, for people: its sentence, or one line for each field at fault. */

interface Refusal {
  error?: { message?: string; details?: { field: string; message: string }[] };
}

/** `what`: the subject of the sentence. `text`: the reply's body, which a proxy may have written. */
export function describeRefusal(what: string, { status, text }: { status: number; text: string }): string {
  const { message, details = [] } = read(text)?.error ?? {};
  const head = `${what} was refused (${status})`;
  if (details.length > 1) return [`${head}:`, ...details.map((fault) => `  ${fault.field}: ${fault.message}`)].join('\n');
  return `${head}: ${message ?? 'the answer is not that of a model gateway'}`;
}

function read(text: string): Refusal | undefined {
  try {
    return JSON.parse(text) as Refusal;
  } catch {
    return undefined;
  }
}
