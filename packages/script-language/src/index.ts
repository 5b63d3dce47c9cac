/** The language of admins' scripts: syntax checks, instrumentation, type declarations. */

export { hookNames, type InstrumentedScript, instrumentScript } from './instrument.ts';
export { checkScript, maxScriptLength, type ScriptFault, ScriptSyntaxError } from './parse.ts';
export { builtinNames, scriptTypes } from './types.ts';
