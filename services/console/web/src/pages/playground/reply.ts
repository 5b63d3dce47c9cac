/** A reply as it grows from pieces. */
import type { PlaygroundImage, PlaygroundPiece } from '@model-gateway/protocols/playground';

export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** One message of the conversation. */
export interface Turn {
  id: number;
  role: 'user' | 'assistant';
  text: string;
  thinking: string;
  images: readonly PlaygroundImage[];
  tools: readonly ToolCall[];
  usage: { input?: number; output?: number };
  finish: string | null;
  error: string | null;
  /** The person pressed stop. */
  stopped: boolean;
}

let lastId = 0;
export const newTurn = (role: Turn['role'], text = '', images: readonly PlaygroundImage[] = []): Turn => ({
  id: ++lastId,
  role,
  text,
  thinking: '',
  images,
  tools: [],
  usage: {},
  finish: null,
  error: null,
  stopped: false,
});

export const addPieces = (turn: Turn, pieces: readonly PlaygroundPiece[]): Turn => pieces.reduce(addPiece, turn);

function addPiece(turn: Turn, piece: PlaygroundPiece): Turn {
  switch (piece.kind) {
    case 'text':
      return { ...turn, text: turn.text + piece.text };
    case 'thinking':
      return { ...turn, thinking: turn.thinking + piece.text };
    case 'tool':
      return { ...turn, tools: addToolPiece(turn.tools, piece) };
    case 'usage':
      return {
        ...turn,
        usage: { ...turn.usage, ...(piece.input !== undefined && { input: piece.input }), ...(piece.output !== undefined && { output: piece.output }) },
      };
    case 'finish':
      return { ...turn, finish: piece.reason };
    case 'error':
      return { ...turn, error: piece.message };
  }
}

function addToolPiece(tools: readonly ToolCall[], { id, name, arguments: text }: Extract<PlaygroundPiece, { kind: 'tool' }>): ToolCall[] {
  const known = tools.find((call) => call.id === id);
  if (!known) return [...tools, { id, name: name ?? '', arguments: text }];
  return tools.map((call) => (call === known ? { ...call, name: call.name || (name ?? ''), arguments: call.arguments + text } : call));
}
