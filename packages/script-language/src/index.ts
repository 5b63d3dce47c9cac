/** What admins' scripts are written in: judged, counted, described. */

export { hookNames, type InstrumentedScript, instrumentScript } from './instrument.ts';
export { checkScript, maxScriptLength as longestScript, type ScriptFault, ScriptSyntaxError } from './parse.ts';
export { builtinNames, scriptTypes } from './types.ts';
