import { clsx } from "clsx";
import { CopyButton } from "./copy.tsx";

/** Text for programs, which scrolls by keyboard too. @param copied named in the label of the button that copies it */
export function CodeBlock({
  text,
  copied,
  className = "max-h-128",
}: {
  text: string;
  copied: string;
  className?: string;
}) {
  return (
    <div className="relative">
      <div className="absolute top-2 right-4 rounded-md bg-surface">
        <CopyButton text={text} what={copied} />
      </div>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className={clsx(
          // On a narrow screen the button would lie over the first line.
          "overflow-auto rounded-xl border border-line bg-surface p-4 font-mono text-xs leading-relaxed max-sm:pt-12",
          className,
        )}
      >
        {text}
      </pre>
    </div>
  );
}
