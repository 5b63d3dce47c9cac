/** One isolate with its hardened realm, and the scripts compiled for it. Spent after a limit, or after so many runs. */
import { instrumentScript } from '@model-gateway/script-language';
import ivm from 'isolated-vm';
import type { RunHead } from '../guest/run.ts';
import { type GuestModule, guestEntry, guestImport } from './guest-source.ts';
import { clockFactor, type SlotSettings } from './messages.ts';

/** An isolate keeps a little of every script that it has compiled. */
const maxScripts = 64;
/** Then a new one, whatever small things have gathered. */
const maxRuns = 20_000;

type Enter = ivm.Reference<(factory: unknown, body: string, context: string, options: string) => string>;

/** A script and what it is run on. */
export interface ScriptInput {
  script: string;
  /** JSON. */
  body: string;
  /** JSON. */
  context: string;
}

export class Realm {
  readonly #isolate: ivm.Isolate;
  readonly #context: ivm.Context;
  readonly #enter: Enter;
  readonly #settings: SlotSettings;
  readonly #factories = new Map<string, ivm.Reference>();
  #runs = 0;

  constructor(settings: SlotSettings) {
    this.#settings = settings;
    this.#isolate = new ivm.Isolate({ memoryLimit: settings.memoryLimitMb });
    this.#context = this.#isolate.createContextSync();
    this.#enter = loadGuest(this.#isolate, this.#context);
  }

  get spent(): boolean {
    return this.#isolate.isDisposed || this.#runs >= maxRuns || this.#factories.size >= maxScripts;
  }

  dispose(): void {
    if (!this.#isolate.isDisposed) this.#isolate.dispose();
  }

  /**
   * Throws what the isolate throws: time is up, memory is spent, the script does not compile. `timeout` is of wall-clock time, in ms; CPU
   * time is counted outside.
   */
  run(
    { script, body, context }: ScriptInput,
    options: { canSwitch: boolean; seed: string },
    timeout = this.#settings.timeoutMs * clockFactor,
  ): { head: RunHead; text: string } {
    this.#runs++;
    const { maxOperations, lazyBody } = this.#settings;
    const given = JSON.stringify({ maxOperations, lazy: lazyBody, ...options });
    const factory = this.#factoryOf(script, timeout);
    const answer = this.#enter.applySync(undefined, [factory.derefInto(), body, context, given], { timeout });
    const end = answer.indexOf('\n');
    return { head: JSON.parse(answer.slice(0, end)) as RunHead, text: answer.slice(end + 1) };
  }

  #factoryOf(script: string, timeout: number): ivm.Reference {
    let factory = this.#factories.get(script);
    if (!factory) {
      const { code } = instrumentScript(script);
      const compiled = this.#isolate.compileScriptSync(code, { filename: 'script.js' });
      factory = compiled.runSync(this.#context, { reference: true, timeout }) as ivm.Reference;
      compiled.release();
      this.#factories.set(script, factory);
    }
    return factory;
  }
}

/** Evaluates the sandbox's own modules. */
function loadGuest(isolate: ivm.Isolate, context: ivm.Context): Enter {
  const modules = new Map<string, { source: GuestModule; module: ivm.Module }>();
  const paths = new WeakMap<ivm.Module, GuestModule>();
  const load = (source: GuestModule): ivm.Module => {
    const known = modules.get(source.path);
    if (known) return known.module;
    const module = isolate.compileModuleSync(source.code, { filename: 'sandbox.js' });
    modules.set(source.path, { source, module });
    paths.set(module, source);
    return module;
  };
  const entry = load(guestEntry());
  entry.instantiateSync(context, (specifier, referrer) => {
    const from = paths.get(referrer);
    if (!from) throw new Error(`a module of the sandbox imports ${specifier} from nowhere`);
    return load(guestImport(specifier, from));
  });
  entry.evaluateSync();
  return entry.namespace.getSync('default', { reference: true }) as Enter;
}
