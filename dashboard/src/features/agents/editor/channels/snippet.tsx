import { CopyButton } from "../../../../ui/copy.tsx";

/** A few lines to copy. @param what named in the button's label */
export function Snippet({ text, what }: { text: string; what: string }) {
  return (
    <div className="flex items-start gap-2 rounded-lg border border-line bg-surface p-3 pl-4">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto py-1 font-mono text-[0.8125rem] leading-relaxed">
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
