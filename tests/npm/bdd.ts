// Where JSR is out of reach: the same names from node's runner.
export {
  after as afterAll,
  afterEach,
  before as beforeAll,
  beforeEach,
  describe,
  it,
} from "node:test";
