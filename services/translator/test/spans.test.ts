import { describe, expect, test } from '@jest/globals';
import type { ScriptOutcome } from '@model-gateway/contracts';
import type { Span } from '@model-gateway/telemetry';
import { traceScript } from '../src/spans.ts';

interface Kept {
  name: string;
  attributes: Record<string, unknown>;
  failed: string | null;
  ended: boolean;
  children: Kept[];
}

/** A span that records its calls. */
function keepSpan(name: string): { kept: Kept; span: Span } {
  const kept: Kept = { name, attributes: {}, failed: null, ended: false, children: [] };
  const span: Span = {
    traceId: 'a'.repeat(32),
    traceparent: '',
    set: (attributes) => void Object.assign(kept.attributes, attributes),
    event: () => undefined,
    child(start) {
      const child = keepSpan(start.name);
      child.span.set(start.attributes ?? {});
      kept.children.push(child.kept);
      return child.span;
    },
    fail: (type) => {
      kept.failed = type;
    },
    end: () => {
      kept.ended = true;
    },
  };
  return { kept, span };
}

const outcome = (fault: ScriptOutcome['fault']): ScriptOutcome => ({ operations: 7, execution_time_ms: 2, use_model: null, fault, places: [] });

describe('the span of a script', () => {
  const trace = async (asking: Promise<{ outcome: ScriptOutcome; texts: Uint8Array }>) => {
    const run = keepSpan('run');
    const result = await traceScript(run.span, 'response_transform', asking).catch((error: unknown) => error);
    return { result, script: run.kept.children[0] };
  };

  test('records the usage', async () => {
    const answer = { outcome: outcome(null), texts: new Uint8Array() };
    const { result, script } = await trace(Promise.resolve(answer));
    expect(result).toBe(answer);
    expect(script).toMatchObject({
      name: 'script.run',
      failed: null,
      ended: true,
      attributes: { 'gateway.script.slot': 'response_transform', 'gateway.script.operations': 7 },
    });
  });

  test('a fault is its code alone, and a runner that is away is an error as before', async () => {
    const fault = { code: 'TypeError', message: 'words of the script', line: 3 };
    expect((await trace(Promise.resolve({ outcome: outcome(fault), texts: new Uint8Array() }))).script).toMatchObject({ failed: 'TypeError', ended: true });
    const away = new Error('away');
    const { result, script } = await trace(Promise.reject(away));
    expect(result).toBe(away);
    expect(script).toMatchObject({ failed: 'unavailable', ended: true });
  });
});
