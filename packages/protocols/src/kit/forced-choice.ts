/**
 * A forced call of a tool at models that refuse one while they think. One rule for all vendors: the call is what the caller explicitly asked for, so
 * thinking gives way to it; only where thinking cannot be turned off does the force.
 */
import type { Conversation, ToolChoice } from '../chat/conversation.ts';
import type { Losses } from './losses.ts';

/** Whether some call, or a certain one, must be made. */
export const forcesCall = (choice: ToolChoice | undefined): boolean => choice?.type === 'any' || choice?.type === 'tool';

/** Declares that a call was to be forced where no tool is left to be called. */
export function loseForcedChoice(choice: ToolChoice | undefined, losses: Losses): void {
  if (forcesCall(choice)) losses.add('tool_choice', 'dropped', 'There is no tool to choose.');
}

/** The conversation with a choice of tools and a setting for thinking that the model takes together. `optional`: thinking can be turned off. */
export function settleForcedChoice(conversation: Conversation, { thinks, optional }: { thinks: boolean; optional: boolean }, losses: Losses): Conversation {
  const { toolChoice, tools } = conversation;
  if (!thinks || !forcesCall(toolChoice) || tools.length === 0) return conversation;
  if (optional) {
    turnThinkingOff(losses);
    return { ...conversation, reasoning: { enabled: false } };
  }
  relaxChoice(losses);
  const allowed = toolChoice?.type === 'any' ? toolChoice.allowed : undefined;
  return { ...conversation, toolChoice: { type: 'auto', ...(allowed && { allowed }) } };
}

/** Declares that the call is forced and the model does not think. */
export function turnThinkingOff(losses: Losses): void {
  losses.add('thinking', 'downgraded', 'Thinking was turned off: this model refuses a forced call of a tool while it thinks.');
}

/** Declares that the model thinks and decides itself whether it calls. */
export function relaxChoice(losses: Losses): void {
  losses.add('tool_choice', 'downgraded', 'This model always thinks, and refuses a forced call of a tool while it does.');
}
