/** Writes the configuration as one value: what `import` and `model-gateway apply` take. */

import type { ConsoleContext } from '../context.ts';
import type { ResourceOperations } from '../resources/operations.ts';
import { formatVersion, pinSection, sectionNames, sections } from './sections.ts';

export function exportConfiguration(resources: readonly ResourceOperations[], { storage }: ConsoleContext): Promise<Record<string, unknown>> {
  return storage.catalog.read(async (reader) => {
    const file: Record<string, unknown> = { version: formatVersion };
    for (const section of sectionNames) file[section] = await resources.find(({ path }) => path === sections[section])?.exportAll(reader);
    file[pinSection] = await reader.balancerLinks.allPins();
    return file;
  });
}
