/** An address that opens a mail in the reader's own program. */
export const mailTo = (address: string, subject: string, text: string): string =>
  `mailto:${encodeURIComponent(address).replaceAll('%40', '@')}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(text)}`;
