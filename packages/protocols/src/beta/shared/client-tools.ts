/**
 * Built-in tools that the vendor's models know and the caller runs (shell, editor, screen): other models get them as functions of the same name and
 * arguments, so that the caller runs the calls unchanged.
 */
import type { Tool } from '../../chat/conversation.ts';
import { asNumber, own } from '../../kit/read.ts';

type Told = NonNullable<Tool['asFunction']>;

const text = (description: string) => ({ type: 'string', description });
const numbers = (count: number, description: string) => ({ type: 'array', items: { type: 'integer' }, minItems: count, maxItems: count, description });

const object = (properties: Record<string, unknown>, required: string[]) => ({ type: 'object', properties, required });

const editing = {
  path: text('Absolute path of the file or folder.'),
  file_text: text('For `create`: the whole content of the file.'),
  old_str: text('For `str_replace`: the text to replace, which stands in the file exactly once.'),
  new_str: text('For `str_replace`: the text in its place; for `insert` with an older editor: the text to insert.'),
  insert_line: { type: 'integer', description: 'For `insert`: the number of the line after which the text goes, 0 for the beginning.' },
  insert_text: text('For `insert`: the text to insert.'),
  view_range: numbers(2, 'For `view` of a file: first and last line, counted from 1; -1 for the end.'),
};

const command = (...words: string[]) => ({ type: 'string', enum: words, description: 'What to do.' });

const screenActions = ['screenshot', 'left_click', 'right_click', 'middle_click', 'double_click', 'triple_click', 'left_click_drag', 'mouse_move'].concat([
  'left_mouse_down',
  'left_mouse_up',
  'type',
  'key',
  'hold_key',
  'scroll',
  'wait',
  'cursor_position',
  'zoom',
]);

/** By the beginning of the tool's type, which ends in a date. */
const known: readonly (readonly [RegExp, (tool: unknown) => Told])[] = [
  [
    /^bash_\d{8}$/,
    () => ({
      description: 'Runs a command in a shell that stays open between calls, and gives what it printed.',
      parameters: object({ command: text('The command.'), restart: { type: 'boolean', description: 'true: starts the shell anew, without a command.' } }, []),
    }),
  ],
  [
    /^text_editor_\d{8}$/,
    () => ({
      description: 'Shows, creates and changes text files; `view` of a folder lists it.',
      parameters: object({ command: command('view', 'create', 'str_replace', 'insert'), ...editing }, ['command', 'path']),
    }),
  ],
  [
    /^memory_\d{8}$/,
    () => ({
      description: 'Files under /memories that are kept between conversations: look there first, and note what will be needed later.',
      parameters: object(
        {
          command: command('view', 'create', 'str_replace', 'insert', 'delete', 'rename'),
          ...editing,
          old_path: text('For `rename`: the path so far.'),
          new_path: text('For `rename`: the new path.'),
        },
        ['command'],
      ),
    }),
  ],
  [
    /^computer_\d{8}$/,
    (tool) => ({
      description: `Uses a screen of ${asNumber(own(tool, 'display_width_px')) ?? '?'} × ${asNumber(own(tool, 'display_height_px')) ?? '?'} pixels with mouse and keyboard. Take a screenshot to see what is there.`,
      parameters: object(
        {
          action: command(...screenActions),
          coordinate: numbers(2, 'x and y in pixels from the upper left.'),
          start_coordinate: numbers(2, 'For `left_click_drag`: where the drag begins.'),
          region: numbers(4, 'For `zoom`: left, top, right and bottom.'),
          text: text('What to type, or the key or combination to press (`ctrl+s`).'),
          scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
          scroll_amount: { type: 'integer', description: 'Clicks of the wheel.' },
          duration: { type: 'number', description: 'Seconds, for `wait` and `hold_key`.' },
        },
        ['action'],
      ),
    }),
  ],
];

/** undefined: a tool that the vendor runs itself, or one that is not known. */
export const describeClientTool = (type: string, tool: unknown): Told | undefined => known.find(([match]) => match.test(type))?.[1](tool);
