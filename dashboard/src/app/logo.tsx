/** The product's mark and name. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2 text-[0.9375rem] font-semibold tracking-tight">
      <svg viewBox="0 0 32 32" className="size-6" aria-hidden="true">
        <rect width="32" height="32" rx="8" className="fill-accent" />
        <path d="M9 12.5v7M14 8v16M19 11v10M24 14v4" stroke="#fff" strokeWidth="2.6" strokeLinecap="round" />
      </svg>
      Parley
    </span>
  );
}
