/** Two texts to be compared, and the words above them. */
export interface TextDiffProps {
  before: string;
  after: string;
  labels: {
    before: string;
    after: string;
    /** Stands for lines that are left out; `$` is their number. */
    unchanged: string;
  };
}
