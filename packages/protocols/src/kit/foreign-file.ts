/** Ids of files that a vendor of another family keeps: its own endpoint alone can open them, and any other answers with an error. */
const foreignToChat = /^(?:file_01|files\/|gs:\/\/|https?:\/\/)/;

/** Whether an endpoint of the chat-completions family, whose ids begin with `file-` or have no form, is given another family's id. */
export const isForeignFile = (fileId: string): boolean => foreignToChat.test(fileId);
