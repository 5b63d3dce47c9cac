/** Writes the configuration as one value: what `import` and `model-gateway apply` take. */

import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { exportCredential } from '../sso/transfer.ts';
import { maxFaults } from '../validation/read-input.ts';
import { credentialSection, formatVersion, pinSection, sectionNames, sections } from './sections.ts';

/** What becomes of secrets that do not open: the export is refused, or masks stand for them. */
export type LostSecrets = 'refuse' | 'mask';

/** Throws 409 that names each row with a secret that does not open, unless they are to be masked. */
export async function exportConfiguration(
  resources: readonly ResourceOperations[],
  { storage }: ConsoleContext,
  lostSecrets: LostSecrets,
): Promise<Record<string, unknown>> {
  const lost = new Map<string, string>();
  const credentials = (await storage.ssoCredentials.all()).map(exportCredential);
  const exported = await storage.catalog.read(async (reader) => {
    const file: Record<string, unknown> = { version: formatVersion };
    for (const section of sectionNames)
      file[section] = await resources
        .find(({ path }) => path === sections[section])
        ?.exportAll(reader, (name, reason) => void lost.set(`${section}.${name}`, `holds a secret that cannot be opened: ${reason}`));
    file[credentialSection] = credentials;
    file[pinSection] = await reader.balancerLinks.allPins();
    return file;
  });
  if (lost.size > 0 && lostSecrets === 'refuse') throw refusal(lost);
  return exported;
}

const refusal = (lost: ReadonlyMap<string, string>): Problem =>
  new Problem(
    'conflict',
    `The secrets of ${lost.size} entries cannot be opened. Add their master key to GATEWAY_MASTER_KEY again, after the present one; or export all else with lost_secrets=mask (\`model-gateway export --lost-secrets mask\`).`,
    [...lost].slice(0, maxFaults).map(([field, message]) => ({ field, message })),
  );
