/** What the models behind the cloud's one interface accept: it refuses with a 400 what a model does not know. Told from the one table of families. */
import type { ConverseRules } from '@model-gateway/model-catalog';
import { familyOf } from '../kit/family.ts';
import type { Target } from '../protocol.ts';

export type CloudFamily = ConverseRules;

/** A target that names no model (a profile known by its ARN alone) gets the forms that all models take. */
export const cloudFamily = (target: Target): CloudFamily => familyOf(target).converse;
