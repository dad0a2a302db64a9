/** Invalid pages, each with the field at fault. */
export const WRONG_PAGES = [
  { page: { number: 0, size: 10 }, field: "page" },
  { page: { number: -1, size: 10 }, field: "page" },
  { page: { number: 1, size: 0 }, field: "page_size" },
  { page: { number: 1, size: -1 }, field: "page_size" },
  { page: { number: 1, size: 101 }, field: "page_size" },
] as const;
