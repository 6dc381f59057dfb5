/** Options for our own schemas: skip compiling the meta-schema at each start. Unknown keywords are still reported. */
export const ownSchemas: { readonly meta: false; readonly validateSchema: false } = {
  meta: false,
  validateSchema: false,
}
