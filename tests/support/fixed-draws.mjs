/**
 * The generator of cases with a fixed start, which suites get in place of the library: a commit is not refused for a case that it has nothing
 * to do with. `DRAWS=<number>` draws others; whoever changes what properties are about looks with a few.
 */
import fc from '../../node_modules/fast-check/lib/fast-check.js';

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default fc;

fc.configureGlobal({ seed: Number(process.env.DRAWS ?? 20_260_301) });
