declare module 'murmurhash3js-revisited' {
  const murmurHash3: {
    /** off: bytes are taken for bytes */
    inputValidation: boolean
    readonly x86: { hash32(bytes: ArrayLike<number>, seed?: number): number }
  }
  export default murmurHash3
}
