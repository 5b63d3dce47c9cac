/** The server's configuration as it is deployed, with passwords of its own, for suites: each service gets in as its own user. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeNatsServer, passwordVariable } from '@model-gateway/bus';
import { serviceSubjects } from '@model-gateway/contracts';

export interface NatsUsers {
  /** For `startNatsServer`. */
  server: { extraArguments: string[]; env: Record<string, string> };
  /** The configuration file, to be changed by suites that do. */
  file: string;
  /** The server's address with a service's credentials. */
  urlFor(url: string, service: string): string;
}

/** Whom the server lets do everything: what a suite does to the bus is not to be held by it. */
export const tester = 'tester';

export function writeNatsUsers(folder: string): NatsUsers {
  const file = join(folder, 'nats.conf');
  // Ports and the store are the suite's, by arguments.
  const text = describeNatsServer().replace('    users: [\n', `    users: [\n      { user: "${tester}", password: $${passwordVariable(tester)} }\n`);
  writeFileSync(file, text.slice(text.indexOf('accounts {')));
  const passwords = Object.fromEntries([...Object.keys(serviceSubjects), tester].map((service) => [service, randomBytes(16).toString('hex')]));
  return {
    file,
    server: {
      extraArguments: ['-c', file],
      env: Object.fromEntries(Object.entries(passwords).map(([service, password]) => [passwordVariable(service), `"${password}"`])),
    },
    urlFor: (url, service) => url.replace('://', `://${service}:${passwords[service]}@`),
  };
}
