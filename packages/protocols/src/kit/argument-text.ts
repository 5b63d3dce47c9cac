/** The JSON text of a call's arguments: some servers and clients send the value itself. What is nested too deeply to print stays open text, which no agent runs. */
export function argumentText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return '{';
    throw error;
  }
}
