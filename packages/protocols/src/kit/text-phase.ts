/** What a text was for (`phase` of Responses: commentary, final_answer): no other protocol has a place for it. */
import type { Turn } from '../chat/conversation.ts';

export const supportsPhase = (turn: Turn): boolean => turn.parts.some((part) => part.type === 'text' && part.phase !== undefined);
