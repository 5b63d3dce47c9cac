/** Writes the configuration as one value: what `import` and `model-gateway apply` take. */

import type { ConsoleContext } from '../context.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { exportCredential } from '../sso/transfer.ts';
import { credentialSection, formatVersion, pinSection, sectionNames, sections } from './sections.ts';

export async function exportConfiguration(resources: readonly ResourceOperations[], { storage }: ConsoleContext): Promise<Record<string, unknown>> {
  const credentials = (await storage.ssoCredentials.all()).map(exportCredential);
  return storage.catalog.read(async (reader) => {
    const file: Record<string, unknown> = { version: formatVersion };
    for (const section of sectionNames) file[section] = await resources.find(({ path }) => path === sections[section])?.exportAll(reader);
    file[credentialSection] = credentials;
    file[pinSection] = await reader.balancerLinks.allPins();
    return file;
  });
}
