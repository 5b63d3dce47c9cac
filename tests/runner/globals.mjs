/** What suites import as `@jest/globals`. A module is loaded once for many suites, so each use asks for what the running suite was given. */
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { quickExpect } from './expect.mjs';
import { ofSuite } from './suite.mjs';

const ofCurrent = (name) =>
  new Proxy(() => {}, {
    apply: (_target, _self, given) => ofSuite(name)(...given),
    get: (_target, property) => ofSuite(name)[property],
  });

export const describe = ofCurrent('describe');
export const test = ofCurrent('test');
export const it = ofCurrent('it');
export const beforeAll = ofCurrent('beforeAll');
export const beforeEach = ofCurrent('beforeEach');
export const afterAll = ofCurrent('afterAll');
export const afterEach = ofCurrent('afterEach');
/** One for all suites, as jest gives it. */
export const expect = quickExpect(ofSuite('expect'));

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { rootDir: '', fakeTimers: {} }, global: globalThis });

/** The part of jest's object that needs no virtual machine. */
export const jest = {
  fn: (implementation) => mocker.fn(implementation),
  spyOn: (object, method, access) => mocker.spyOn(object, method, access),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  useFakeTimers(options) {
    timers.useFakeTimers(options);
    return jest;
  },
  useRealTimers() {
    timers.useRealTimers();
    return jest;
  },
  advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
  getTimerCount: () => timers.getTimerCount(),
};
