/** What the sandbox is made of, run once in a new realm: hardens it and gives the one function that its host calls. */
import { harden } from './harden.ts';
import { compilePattern } from './regexp.ts';
import { type RunOptions, run } from './run.ts';

// The tables behind ignoring case are made on first use, which takes longer than a run should.
compilePattern('a', 'i').matcher('A').find();
harden(globalThis as unknown as Record<PropertyKey, unknown>);

/** A line of JSON (`RunHead`), then the texts. Only text crosses the wall. */
export default function enter(factory: (...hooks: unknown[]) => unknown, body: string, context: string, options: string): string {
  const { head, text } = run(factory, body, context, JSON.parse(options) as RunOptions);
  return `${JSON.stringify(head)}\n${text}`;
}
