/**
 * Jest's `expect` without what that makes anew for each value: the text of a stack, and six functions for each of some forty matchers, one of which is called.
 * Whether an assertion holds, jest's own matcher says; where it does not, jest's `expect` makes it again and says what is wrong.
 */
const registry = globalThis[Symbol.for('$$jest-matchers-object')];
const internal = Symbol.for('$$jest-internal-matcher');
const here = import.meta.url;

/** `given` is jest's own, with everything that hangs on it. Matchers of suites (`expect.extend`) are not known. */
export function quickExpect(given) {
  const { matchers, customEqualityTesters: customTesters, state } = registry;
  const assertion = (name, isNot) => {
    const matcher = matchers[name];
    // What calls the value must not call it twice, and snapshots are counted.
    const isQuick = matcher[internal] === true && !name.startsWith('toThrow');
    const context = { customTesters, isNot, promise: '' };
    return function (...args) {
      if (!isQuick || !holds(matcher, context, this.actual, args)) return byJest(() => (isNot ? given(this.actual).not : given(this.actual))[name](...args));
      state.assertionCalls++;
      state.numPassingAsserts++;
    };
  };
  const names = Object.keys(matchers);
  class Denied {
    constructor(actual) {
      this.actual = actual;
    }
  }
  for (const name of names) Denied.prototype[name] = assertion(name, true);
  class Expectation {
    constructor(actual) {
      this.actual = actual;
    }
    get not() {
      return new Denied(this.actual);
    }
    get resolves() {
      return ofPromise(given(this.actual).resolves);
    }
    get rejects() {
      return ofPromise(given(this.actual).rejects);
    }
  }
  for (const name of names) Expectation.prototype[name] = assertion(name, false);
  return Object.assign((...actual) => (actual.length === 1 ? new Expectation(actual[0]) : given(...actual)), given);
}

function holds(matcher, context, actual, args) {
  try {
    return matcher.call(context, actual, ...args).pass !== context.isNot;
  } catch {
    // A value of which that cannot be asked.
    return false;
  }
}

const ofPromise = (assertions) =>
  new Proxy(assertions, { get: (target, name) => (name === 'not' ? ofPromise(target.not) : (...args) => byJest(() => target[name](...args))) });

/** Failures point at the suite's line, not at this file. */
function byJest(assert) {
  try {
    const done = assert();
    return done instanceof Promise ? done.catch(throwFromSuite) : done;
  } catch (error) {
    return throwFromSuite(error);
  }
}

function throwFromSuite(error) {
  if (error instanceof Error)
    error.stack = error.stack
      ?.split('\n')
      .filter((line) => !line.includes(here))
      .join('\n');
  throw error;
}
