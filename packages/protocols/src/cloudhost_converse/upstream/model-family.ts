/**
 * What each vendor's models accept behind this cloud's one interface, which answers 400 to what a model does not know. Derived from the table of
 * model families.
 */
import type { ConverseRules } from '@model-gateway/model-catalog';
import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';

export type CloudFamily = ConverseRules;

/** A target that names no model (a profile known by its ARN alone) gets the forms that all models take. */
export const cloudFamily = (target: Target): CloudFamily => familyOf(target).converse;
