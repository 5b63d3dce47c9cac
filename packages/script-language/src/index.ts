/** What admins' scripts are written in: judged, counted, described. */
export { builtinNames, scriptTypes } from './types.ts';
export { hookNames, type InstrumentedScript, instrumentScript } from './instrument.ts';
export { checkScript, longestScript, ScriptSyntaxError, type ScriptFault } from './parse.ts';
