/** Everything that the chart renders is what Kubernetes takes, by the schemas of three of its versions. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { matrix, renderText } from './helm.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-schemas-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const tools = process.env['TOOLS_CACHE'] ?? join(homedir(), '.cache/model-gateway-tools');
const validate = process.env['KUBERNETES_VALIDATE'] ?? [join(tools, 'python/bin/kubernetes-validate')].find(existsSync) ?? 'kubernetes-validate';

/** Not Kubernetes' own, so there are no schemas of them here. */
const foreign = /kind (HTTPRoute|PodMonitor|PrometheusRule) with/;

describe.each(['1.30', '1.34', '1.37'])('Kubernetes %s', (version) => {
  test('takes every arrangement', () => {
    const files = Object.entries(matrix).map(([name, options]) => {
      const file = join(folder, `${name}.yaml`);
      writeFileSync(file, renderText(options));
      return file;
    });
    const { status, stdout, stderr, error } = spawnSync(validate, ['--strict', '-k', version, ...files], { encoding: 'utf8' });
    if (error) throw new Error(`no kubernetes-validate (${error.message}): run tests/chart/tools.sh, or say where it is in KUBERNETES_VALIDATE`);
    const complaints = `${stdout}\n${stderr}`.split('\n').filter((line) => /^(WARN|ERROR)/.test(line) && !foreign.test(line));
    expect([status, complaints]).toEqual([0, []]);
  });

  test('would refuse what is wrong', () => {
    const file = join(folder, 'wrong.yaml');
    writeFileSync(file, renderText(matrix['external-db']).replace(/^ {2}replicas: 2$/m, '  replicas: two'));
    expect(spawnSync(validate, ['--strict', '-k', version, file]).status).not.toBe(0);
  });
});
