/** Pins: which entry of a load balancer an access key is sent to, while that entry is healthy. */
import type { BalancerPin } from '@model-gateway/contracts';
import type { CatalogReader, CatalogWriter, LoadBalancerDocument, StoredResource } from '@model-gateway/storage';
import { invalidField, Problem } from '../problem.ts';
import { joinPath } from '../validation/read-input.ts';

export type Outcome = 'created' | 'updated' | 'unchanged';

/** Throws 404. */
export async function findBalancer(reader: CatalogReader, name: string): Promise<StoredResource<LoadBalancerDocument>> {
  const stored = await reader.loadBalancers.find(name);
  if (!stored) throw new Problem('not_found', 'There is no load balancer of this name.');
  return stored;
}

/** Creates or moves a pin. Throws 422 that names the field. */
export async function putPin(writer: CatalogWriter, { load_balancer, access_key, entry }: BalancerPin, prefix = ''): Promise<Outcome> {
  const balancer = await writer.loadBalancers.find(load_balancer);
  if (!balancer) throw invalidField(joinPath(prefix, 'load_balancer'), 'there is no load balancer of this name');
  if (!(await writer.accessKeys.find(access_key))) throw invalidField(joinPath(prefix, 'access_key'), 'there is no access key of this name');
  if (!balancer.document.entries.some(({ model }) => model === entry)) throw invalidField(joinPath(prefix, 'entry'), 'is not an entry of this load balancer');
  const known = await writer.balancerLinks.findPin(balancer.id, access_key);
  if (known?.entry === entry) return 'unchanged';
  await writer.balancerLinks.setPin(balancer.id, access_key, entry);
  return known ? 'updated' : 'created';
}
