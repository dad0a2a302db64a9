import { CodeBlock } from "../../ui/code-block.tsx";

/** The API's response as text. */
export function JsonView({ value }: { value: unknown }) {
  return <CodeBlock text={JSON.stringify(value, null, 2)} copied="JSON" className="max-h-160" />;
}
