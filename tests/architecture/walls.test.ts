/** The layers of packages and services, checked by reading every import. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { protocolIds } from '@model-gateway/contracts';

const root = join(import.meta.dirname, '../..');

const layers: Record<string, number> = {
  contracts: 0,
  ...Object.fromEntries(
    [
      'protocols',
      'routing',
      'body-rules',
      'limits',
      'signature-envelope',
      'model-catalog',
      'stream-framing',
      'json-bytes',
      'secrets',
      'collections',
      'client-setup',
      'script-language',
    ].map((name) => [name, 1]),
  ),
  ...Object.fromEntries(
    ['bus', 'storage', 'catalog', 'distributed-state', 'upstream-client', 'config', 'telemetry', 'service-runtime', 'web-search'].map((name) => [name, 2]),
  ),
};
/** Within a layer only these may lean on one another. */
const sameLayer: Record<string, readonly string[]> = {
  protocols: ['stream-framing', 'json-bytes', 'model-catalog'],
  routing: ['model-catalog', 'body-rules'],
  'body-rules': ['json-bytes', 'protocols'],
  catalog: ['storage', 'bus'],
  storage: [],
  'service-runtime': ['telemetry'],
  'web-search': ['upstream-client'],
};

interface Source {
  file: string;
  unit: string;
  group: string;
  imports: string[];
  text: string;
}

function sources(group: string): Source[] {
  return readdirSync(join(root, group)).flatMap((unit) => {
    const folder = join(root, group, unit, 'src');
    return files(folder).map((file) => {
      const text = readFileSync(file, 'utf8');
      return {
        file: relative(root, file),
        unit,
        group,
        text,
        imports: [...text.matchAll(/^(?:import|export)[^'"]*from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm)].map(
          (found) => found[1] ?? found[2] ?? found[3] ?? '',
        ),
      };
    });
  });
}

function files(folder: string, isSource = /(?<!\.test)\.ts$/): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return files(path, isSource);
    return isSource.test(path) ? [path] : [];
  });
}

const packages = sources('packages');
const services = sources('services');
const ours = (name: string): string | undefined => /^@model-gateway\/([^/]+)/.exec(name)?.[1];

describe('walls', () => {
  test('a package imports only from lower layers, or from the neighbours it may lean on', () => {
    const broken = packages.flatMap(({ file, unit, imports }) =>
      imports.flatMap((name) => {
        const target = ours(name);
        if (target === undefined || target === unit) return [];
        const allowed = layers[target] !== undefined && (layers[target] < layers[unit]! || (sameLayer[unit] ?? []).includes(target));
        return allowed ? [] : [`${file} imports ${name}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test('every package has a layer', () => {
    expect([...new Set(packages.map(({ unit }) => unit))].filter((unit) => layers[unit] === undefined)).toEqual([]);
  });

  test('services import packages, never one another', () => {
    const names = new Set(services.map(({ unit }) => unit));
    const broken = services.flatMap(({ file, unit, imports }) =>
      imports.filter((name) => names.has(ours(name) ?? '') && ours(name) !== unit).map((name) => `${file} imports ${name}`),
    );
    expect(broken).toEqual([]);
  });

  test('no import leaves its own package by a relative path', () => {
    const broken = [...packages, ...services].flatMap(({ file, group, unit, imports }) =>
      imports
        .filter((name) => name.startsWith('.') && !relative(join(root, group, unit), join(root, file, '..', name)).match(/^(?!\.\.)/))
        .map((name) => `${file} imports ${name}`),
    );
    expect(broken).toEqual([]);
  });

  test('what is imported is declared in the package.json of the importing package', () => {
    const broken = [...packages, ...services].flatMap(({ file, group, unit, imports }) => {
      const manifest = JSON.parse(readFileSync(join(root, group, unit, 'package.json'), 'utf8')) as { dependencies?: object; devDependencies?: object };
      const declared = new Set([...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.devDependencies ?? {})]);
      return imports
        .filter((name) => !name.startsWith('.') && !name.startsWith('node:') && !declared.has(packageOf(name)))
        .map((name) => `${file} imports ${name}`);
    });
    expect(broken).toEqual([]);
  });

  test('pure packages have no clock, no random and no I/O', () => {
    const pure = packages.filter(({ unit }) => layers[unit] === 1);
    const broken = pure.flatMap(({ file, imports, text }) => [
      ...imports
        .filter((name) => name.startsWith('node:') && !['node:crypto', 'node:buffer', 'node:util', 'node:zlib'].includes(name))
        .map((name) => `${file} imports ${name}`),
      ...[...text.matchAll(/\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bsetTimeout\(|\bsetInterval\(|\bprocess\.env\b/g)].map(
        (found) => `${file} uses ${found[0]}`,
      ),
    ]);
    expect(broken).toEqual([]);
  });

  test('no service knows a protocol by its id', () => {
    const literal = new RegExp(`['"\`](?:${protocolIds.filter((id) => id !== 'passthrough').join('|')})['"\`]`);
    const broken = services.filter(({ text }) => literal.test(text)).map(({ file, text }) => `${file}: ${literal.exec(text)?.[0]}`);
    expect(broken).toEqual([]);
  });

  test('a protocol sees of another only its index, and its two sides see only what they share', () => {
    const place = (file: string): { protocol: string; side: string } | undefined => {
      const found = new RegExp(`^packages/protocols/src/(${protocolIds.join('|')})/(?:(client|upstream|shared)/)?`).exec(file);
      return found ? { protocol: found[1] ?? '', side: found[2] ?? '' } : undefined;
    };
    /** What a side may import of its own protocol. */
    const mayUse: Record<string, readonly string[]> = {
      client: ['client', 'shared'],
      upstream: ['upstream', 'shared'],
      shared: ['shared'],
      '': ['client', 'upstream', 'shared', ''],
    };
    const broken = packages.flatMap(({ file, imports }) => {
      const from = place(file);
      if (!from) return [];
      return imports
        .filter((name) => {
          if (!name.startsWith('.')) return false;
          const target = relative(root, join(root, file, '..', name));
          const to = place(target);
          if (!to) return false;
          return to.protocol === from.protocol ? !mayUse[from.side]?.includes(to.side) : !target.endsWith(`/${to.protocol}/index.ts`);
        })
        .map((name) => `${file} imports ${name}`);
    });
    expect(broken).toEqual([]);
  });

  test('no log line gives a name in a field whose value logs mask', () => {
    const call = /\blogger\??\.(?:trace|debug|info|warn|error|fatal)\(\s*\{([^}]*)\}/g;
    const masked = /(?:^|[,{\s])(?:authorization|cookie|password|secret|credential|token|key|api_?key)\s*(?::|,|$)/i;
    const broken = [...packages, ...services].flatMap(({ file, text }) =>
      [...text.matchAll(call)].filter(([, fields = '']) => masked.test(fields)).map(([line]) => `${file}: ${line}`),
    );
    expect(broken).toEqual([]);
  });

  test('only config reads the environment among packages, and no service does', () => {
    const broken = [...packages.filter(({ unit }) => unit !== 'config'), ...services]
      .filter(({ text }) => /\bprocess\.env\b/.test(text))
      .map(({ file }) => file);
    expect(broken).toEqual([]);
  });
});

/** What the console's pages may load of ours. Everything else is there for its types alone: the code of a server does not enter the browser's files. */
const browserEntryPoints = [
  '@model-gateway/client-setup',
  '@model-gateway/contracts/audit',
  '@model-gateway/contracts/fault-texts/zh.json',
  '@model-gateway/contracts/field-texts/en.json',
  '@model-gateway/contracts/field-texts/zh.json',
  '@model-gateway/contracts/loss-reasons',
  '@model-gateway/protocols/playground',
  '@model-gateway/routing/header-rules',
  '@model-gateway/routing/wildcard',
];

describe("the console's pages", () => {
  const folder = join(root, 'services/console/web');
  const pages = files(join(folder, 'src'), /(?<!\.test)\.tsx?$/).map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  const valueImports = (text: string): string[] =>
    [...text.matchAll(/^(?:import|export)\s+(?!type\b)([^'";]*?)\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm)]
      // `import { type A, type B }` loads nothing of the module that is used.
      .filter(([, names]) => names === undefined || !/^\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*,?)+\s*\}\s*$/.test(names))
      .map((found) => found[2] ?? found[3] ?? found[4] ?? '');

  test('are read', () => expect(pages.length).toBeGreaterThan(100));

  test('load of our packages only what is made for a browser', () => {
    const broken = pages.flatMap(({ file, text }) =>
      valueImports(text)
        .filter((name) => name.startsWith('node:') || (ours(name) !== undefined && !browserEntryPoints.includes(name)))
        .map((name) => `${relative(root, file)} imports ${name}`),
    );
    expect(broken).toEqual([]);
  });

  test('take nothing from outside their folder by a relative path', () => {
    const broken = pages.flatMap(({ file, text }) =>
      [...text.matchAll(/\b(?:from|import\()\s*['"](\.[^'"]*)['"]/g)]
        .map(([, name]) => name ?? '')
        .filter((name) => relative(folder, join(file, '..', name)).startsWith('..'))
        .map((name) => `${relative(root, file)} imports ${name}`),
    );
    expect(broken).toEqual([]);
  });
});

const packageOf = (name: string): string => (name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : (name.split('/')[0] ?? name));
