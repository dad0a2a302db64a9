/** The API begins a message with the name that the field has in a request; people know the field by its label. */
export function withLabel(message: string, label: unknown): string {
  if (typeof label !== "string") return message;
  return message.replace(/^[a-z][a-z0-9_]*(?:\.[a-z0-9_]+)*(?= )/, (path) => {
    const item = /\.(\d+)$/.exec(path)?.[1];
    return item === undefined ? label : `${label}: entry ${Number(item) + 1}`;
  });
}
