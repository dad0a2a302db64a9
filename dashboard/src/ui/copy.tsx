import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "./button.tsx";
import { tellFailure } from "./overlay/toasts.tsx";

const SHOWN_MS = 2_000;
export const NOT_COPIED = "Your browser did not let this page copy. Select the text and copy it yourself.";

/** Copies a text. @param what named in the button's label, such as `agent ID` */
export function CopyButton({ text, what, words = false }: { text: string; what: string; words?: boolean }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => tellFailure(new Error(NOT_COPIED)),
    );
  const Icon = copied ? Check : Copy;
  return (
    <Button
      variant={words ? "secondary" : "ghost"}
      size={words ? "small" : "icon"}
      className="relative"
      aria-label={copied ? `Copied ${what}` : `Copy ${what}`}
      onClick={copy}
    >
      <Icon aria-hidden />
      {words && (copied ? "Copied" : "Copy")}
    </Button>
  );
}

/** An id or an address that is meant to be copied. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <span className="inline-flex min-w-0 max-w-full items-center gap-1 font-mono text-[0.8125rem] text-muted">
      <span className="truncate">{text}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
}
