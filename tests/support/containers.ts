/** How suites come to a real server: an address that was given, else a binary of this machine, else a container where an engine answers. */
import { spawnSync } from 'node:child_process';
import { interpolate, readCompose } from './compose.ts';
import { freePort } from './free-port.ts';

export type Way = 'given' | 'binary' | 'container';

export interface Ways {
  /** The value of the variable that names a server; empty is none. */
  given: string | undefined;
  binary: boolean;
  /** Asked only where neither of the others is there. */
  engine?: () => boolean;
}

/** null: there is no way. */
export function chooseWay({ given, binary, engine = engineAnswers }: Ways): Way | null {
  if (given) return 'given';
  if (binary) return 'binary';
  return engine() ? 'container' : null;
}

/** For whoever has to mend it. */
export const noWay = (server: string, variable: string, debian: string): string =>
  `no ${server}: set ${variable}, or install one (Debian: apt-get install ${debian}), or let a container engine answer (DOCKER_HOST, or its usual socket)`;

let answered: boolean | undefined;

/** Whether testcontainers finds an engine, by its own search (DOCKER_HOST, its properties file, the usual sockets). */
export function engineAnswers(): boolean {
  const ask = `const { getContainerRuntimeClient } = await import('testcontainers'); await getContainerRuntimeClient(); process.exit(0);`;
  // Suites ask before they begin, without waiting: in a process of its own.
  answered ??= spawnSync(process.execPath, ['--input-type=module', '-e', ask], { cwd: import.meta.dirname, stdio: 'ignore', timeout: 30_000 }).status === 0;
  return answered;
}

export interface ContainerOptions {
  /** Of docker-compose.yml: its image is the one that is deployed. */
  service: string;
  /** Inside. */
  ports: readonly number[];
  /** The same outside as another one had; without them, free ones. */
  outside?: readonly number[];
  command: string[];
  env?: Record<string, string>;
  /** Of this machine, read under the same paths inside. */
  files?: readonly string[];
}

/** One container; its ports stay the same over stops and starts, and so does what it wrote. */
export interface ServerContainer {
  readonly host: string;
  /** Outside, in the order asked for. */
  readonly ports: readonly number[];
  /** Again, after it ended. */
  start(): Promise<void>;
  signal(name: NodeJS.Signals): Promise<void>;
  /** SIGTERM, and SIGKILL after five seconds. */
  stop(): Promise<void>;
  kill(): Promise<void>;
  remove(): Promise<void>;
}

/** Starts it; whether the server inside answers is for the caller to find out. What a killed suite leaves behind, testcontainers removes. */
export async function startContainer({ service, ports, outside: given = [], command, env = {}, files = [] }: ContainerOptions): Promise<ServerContainer> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const named = readCompose().file.services[service]?.image;
  if (named === undefined) throw new Error(`docker-compose.yml names no image of ${service}`);
  const image = interpolate(named, {});
  const outside: number[] = [];
  for (const at of ports.keys()) outside.push(given[at] ?? (await freePort()));
  const started = await new GenericContainer(image)
    .withExposedPorts(...ports.map((container, at) => ({ container, host: outside[at]! })))
    .withEnvironment(env)
    .withBindMounts(files.map((file) => ({ source: file, target: file, mode: 'ro' as const })))
    .withCommand(command)
    .start();
  const handle = (await getContainerRuntimeClient()).container.getById(started.getId());
  return {
    host: started.getHost(),
    ports: outside,
    start: () => handle.start(),
    signal: (name) => handle.kill({ signal: name }),
    stop: () => handle.stop({ t: 5 }),
    async kill() {
      const ended = handle.wait();
      await handle.kill();
      await ended;
    },
    remove: async () => void (await started.stop({ timeout: 0 })),
  };
}
