import { useState } from "react";
import { CodeBlock } from "../../ui/code-block.tsx";
import { Segments } from "../../ui/segments.tsx";
import go from "./receivers/go.txt" with { type: "text" };
import php from "./receivers/php.txt" with { type: "text" };
import python from "./receivers/python.txt" with { type: "text" };
import typescript from "./receivers/typescript.txt" with { type: "text" };

const ADDRESS = "http://127.0.0.1:9000/";

// TypeScript and Python are those of docs/webhooks.md, which a test runs.
const LANGUAGES = [
  {
    value: "typescript",
    label: "TypeScript",
    code: typescript,
    run: "bun add standardwebhooks && WEBHOOK_SECRET=whsec_… bun receiver.ts",
  },
  { value: "python", label: "Python", code: python, run: "WEBHOOK_SECRET=whsec_… python3 receiver.py" },
  { value: "go", label: "Go", code: go, run: "WEBHOOK_SECRET=whsec_… go run receiver.go" },
  { value: "php", label: "PHP", code: php, run: "WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:9000 receiver.php" },
] as const;

/** A program that receives events and checks their signature, in four languages. */
export function Receivers() {
  const [language, setLanguage] = useState<(typeof LANGUAGES)[number]["value"]>("typescript");
  const { label, code, run } = LANGUAGES.find(({ value }) => value === language) ?? LANGUAGES[0];
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <Segments label="Language" options={LANGUAGES} value={language} onChange={setLanguage} />
        <p className="flex flex-wrap items-center gap-2 text-[0.8125rem] text-muted">
          Run it with
          <code className="rounded-md bg-hover px-2 py-0.5 font-mono text-xs break-all text-ink">{run}</code>
        </p>
      </div>
      <p className="text-[0.8125rem] text-muted">
        It listens on this machine only: enter <code className="font-mono text-xs text-ink">{ADDRESS}</code> as the
        webhook's URL. That works where Parley was started with{" "}
        <code className="font-mono text-xs text-ink">bun run start</code>. Other installations send to public https://
        addresses only, because a private one would open the operator's own network: give the receiver a public address,
        for example through a tunnel, or ask the operator to list its address in{" "}
        <code className="font-mono text-xs text-ink">PARLEY_ALLOWED_PRIVATE_HOSTS</code>.
      </p>
      <CodeBlock text={code} copied={`the ${label} receiver`} />
    </div>
  );
}
