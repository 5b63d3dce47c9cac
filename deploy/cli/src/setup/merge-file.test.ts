import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { clients, type FileStep, findClient } from '@model-gateway/client-setup';
import { parse as parseToml } from 'smol-toml';
import { parse as parseYaml } from 'yaml';
import { mergeText, writeClientFiles } from './merge-file.ts';

const home = mkdtempSync(join(tmpdir(), 'setup-'));
afterAll(() => rmSync(home, { recursive: true }));
const facts = { baseUrl: 'http://gateway:7890', key: 'gk-secret', model: 'smart "x"' };
const fileOf = (id: string): FileStep =>
  findClient(id)!
    .steps(facts)
    .find((step) => step.kind === 'file')!;

describe('writing a client file', () => {
  test('existing content stays; ours replaces what has the same name', () => {
    const toml = mergeText(fileOf('codex'), 'approval_policy = "never"\nmodel = "old"\n[model_providers.other]\nname = "Other"\n', 'x');
    expect(parseToml(toml)).toMatchObject({
      approval_policy: 'never',
      model: 'smart "x"',
      model_providers: { other: { name: 'Other' }, gateway: { wire_api: 'responses' } },
    });
    const yaml = parseYaml(mergeText(fileOf('continue'), 'models:\n  - name: mine\n  - name: smart "x"\n    apiKey: old\n', 'x'));
    expect(yaml.models.map(({ name, apiKey }: { name: string; apiKey?: string }) => [name, apiKey])).toEqual([
      ['mine', undefined],
      ['smart "x"', 'gk-secret'],
    ]);
    expect(mergeText(fileOf('gemini-cli'), 'A=1\nexport GEMINI_API_KEY=old\n\n', 'x')).toBe(
      'A=1\nGOOGLE_GEMINI_BASE_URL="http://gateway:7890"\nGEMINI_API_KEY="gk-secret"\n',
    );
  });

  test('writes below the home folder, readable to its owner alone, and keeps the first state', () => {
    const folder = join(home, '.claude');
    mkdirSync(folder);
    const path = join(folder, 'settings.json');
    writeFileSync(path, '{"theme":"dark"}', { mode: 0o644 });
    const step = fileOf('claude-code');
    expect(writeClientFiles([step], home)).toEqual([{ path, backup: `${path}.before-model-gateway` }]);
    expect(writeClientFiles([step], home)).toEqual([{ path, backup: null }]);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ theme: 'dark', env: { ANTHROPIC_AUTH_TOKEN: 'gk-secret' } });
    expect(readFileSync(`${path}.before-model-gateway`, 'utf8')).toBe('{"theme":"dark"}');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(existsSync(join(home, '.codex'))).toBe(false);
    writeClientFiles([fileOf('codex')], home);
    expect(statSync(join(home, '.codex/config.toml')).mode & 0o777).toBe(0o600);
  });

  test('the size of a model does not stay for another one whose size is not known', () => {
    const sized = { ...facts, limits: { context: 400_000, input: 272_000, output: 128_000 } };
    for (const id of ['claude-code', 'codex', 'gemini-cli', 'opencode']) {
      const stepOf = (of: typeof facts) =>
        findClient(id)!
          .steps(of)
          .findLast((step) => step.kind === 'file') as FileStep;
      const first = mergeText(stepOf(sized), null, 'x');
      expect(first).toMatch(/272000|0\.13/);
      // A second run changes nothing, the order of the settings included.
      expect(mergeText(stepOf(sized), first, 'x')).toBe(first);
      expect(mergeText(stepOf(facts), first, 'x')).toBe(mergeText(stepOf(facts), null, 'x'));
    }
  });

  test('a file that does not parse is left alone', () => {
    expect(() => mergeText(fileOf('opencode'), '{ theme: "dark" }', '/h/opencode.json')).toThrow('/h/opencode.json is not JSON');
    expect(() => mergeText(fileOf('claude-code'), '[]', '/h/settings.json')).toThrow('does not hold a table');
  });

  test('comments and trailing commas, which clients take in JSON, are read over', () => {
    const present = '\ufeff{\n  // mine\n  "theme": "da//rk, }", /* until */ "list": ["a,]", "/*b*/",],\n}';
    expect(JSON.parse(mergeText(fileOf('opencode'), present, 'x'))).toMatchObject({ theme: 'da//rk, }', list: ['a,]', '/*b*/'], model: 'gateway/smart "x"' });
  });

  test('nothing is written where one of several files cannot be', () => {
    const own = join(home, 'half');
    mkdirSync(join(own, '.gemini'), { recursive: true });
    writeFileSync(join(own, '.gemini/settings.json'), '{ general: {} }');
    const files = findClient('gemini-cli')!
      .steps(facts)
      .filter((step): step is FileStep => step.kind === 'file');
    expect(() => writeClientFiles(files, own)).toThrow('settings.json is not JSON');
    expect(existsSync(join(own, '.gemini/.env'))).toBe(false);
  });

  test('the settings that win in OpenCode are the ones that are written', () => {
    const own = join(home, 'winner');
    const folder = join(own, '.config/opencode');
    expect(writeClientFiles([fileOf('opencode')], own)).toEqual([{ path: join(folder, 'opencode.json'), backup: null }]);
    const path = join(folder, 'opencode.jsonc');
    writeFileSync(path, '{ "model": "mine/x" } // mine');
    expect(writeClientFiles([fileOf('opencode')], own)).toEqual([{ path, backup: `${path}.before-model-gateway` }]);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ model: 'gateway/smart "x"' });
  });

  test('a configuration of Continue keeps its own name', () => {
    const present = 'name: mine\nversion: 0.0.1\nmodels: []\n';
    expect(parseYaml(mergeText(fileOf('continue'), present, 'x'))).toMatchObject({ name: 'mine', version: '0.0.1', schema: 'v1' });
    expect(parseYaml(mergeText(fileOf('continue'), null, 'x'))).toMatchObject({ name: 'Model gateway', version: '1.0.0' });
  });

  test('every printed file parses to its values', () => {
    for (const client of clients)
      for (const step of client.steps(facts)) if (step.kind === 'file' && step.format !== 'env') expect(mergeText(step, null, 'x')).toContain('smart');
  });
});
